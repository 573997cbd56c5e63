/**
 * Makes a function by which what arrives in one turn of the event loop goes on together, in its order, once that turn has read all
 * of it. Reading some twenty requests and then answering them takes a third less processor time than reading and answering one
 * after the other (docs/performance.md); a request that comes alone waits for 5 µs.
 */
export function gatherTurns(): (goOn: () => void) => void {
  let waiting: (() => void)[] = [];
  const goOnTogether = () => {
    const arrived = waiting;
    waiting = [];
    for (const goOn of arrived) {
      goOn();
    }
  };
  return (goOn) => {
    if (waiting.push(goOn) === 1) {
      setImmediate(goOnTogether);
    }
  };
}
