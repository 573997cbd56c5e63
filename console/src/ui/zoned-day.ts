/** Returns the moment at which a day begins in a time zone, as an ISO time. The zone's offset is looked up at that day. */
export function startOfDay(date: string, timeZone: string): string {
  const asUtc = Date.parse(`${date}T00:00:00Z`);
  const offset = (ms: number) => {
    const parts = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }).formatToParts(ms);
    const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '0';
    const local = `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}Z`;
    return Date.parse(local) - ms;
  };
  // The second look sees the offset of the moment that the first one has found, for days on which the clocks change.
  const first = asUtc - offset(asUtc);
  return new Date(asUtc - offset(first)).toISOString();
}
