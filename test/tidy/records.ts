const NAME = /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/;
const STATUS = /^Status: (?:accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)), \d{4}-\d{2}-\d{2}(?:; .+)?$/;

/**
 * Finds faults in decision records. The numbers must have no gaps. Each record must have a title with its number, a status with a date, and
 * a row in the index.
 * @param notes path and text of each file in `docs/decisions/` except the index
 */
export function decisionRecords(notes: [path: string, text: string][], index: string): string[] {
  return notes.flatMap(([path, text], place) => {
    const number = String(place + 1).padStart(4, '0');
    const [title, , status = ''] = text.split('\n');
    return [
      ...(NAME.exec(path)?.[1] === number ? [] : [`${path}: its name does not begin with ${number}`]),
      ...(title?.startsWith(`# ${number} `) ? [] : [`${path}: its first line does not begin with "# ${number} "`]),
      ...(STATUS.test(status) ? [] : [`${path}: its third line is not a status with a date`]),
      ...(index.includes(`(${path.split('/').at(-1)})`) ? [] : [`${path}: the index has no row for it`]),
    ];
  });
}
