const NAME = /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/;
const STATUS = /^Status: (?:accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)), \d{4}-\d{2}-\d{2}(?:; .+)?$/;

/**
 * Finds faults in decision records. Each record must have a title with its number, a status with a date, and a row in the index. A deleted
 * record leaves a gap in the numbers.
 * @param notes path and text of each file in `docs/decisions/` except the index
 */
export function decisionRecords(notes: [path: string, text: string][], index: string): string[] {
  return notes.flatMap(([path, text]) => {
    const number = NAME.exec(path)?.[1];
    const [title, , status = ''] = text.split('\n');
    return [
      ...(number === undefined ? [`${path}: its name does not begin with a number of four digits`] : []),
      ...(title?.startsWith(`# ${number} `) ? [] : [`${path}: its first line does not begin with "# ${number} "`]),
      ...(STATUS.test(status) ? [] : [`${path}: its third line is not a status with a date`]),
      ...(index.includes(`(${path.split('/').at(-1)})`) ? [] : [`${path}: the index has no row for it`]),
    ];
  });
}
