/**
 * Wing and room of a file, for example `hotel` and `rates` for src/hotel/rates/store.ts, or `service` and `app` for
 * src/service/app.ts.
 */
export interface Place {
  wing: string;
  room: string;
}

export interface Drawing {
  /** Wings of each floor of the drawing, lowest floor first. */
  floors: string[][];
  /** Rooms of each wing, in ranks, lowest rank first. Rooms of one rank may not import each other. */
  rooms: Map<string, string[][]>;
}

/**
 * Reads the drawing of docs/ARCHITECTURE.md. `─ name/ ─` begins a wing, and the lines below it list its rooms. In `a < b, c`
 * the rooms b and c may import the room a.
 * @throws Error if the text has no drawing
 */
export function readDrawing(markdown: string): Drawing {
  const drawing = /```\n(┌[^]*?┘)\n```/.exec(markdown)?.[1];
  if (drawing === undefined) throw new Error('docs/ARCHITECTURE.md has no drawing of the wings and rooms.');
  const floors: string[][] = [];
  const texts = new Map<string, string>();
  for (const line of drawing.split('\n')) {
    const names = [...line.matchAll(/─ ([a-z-]+)\/ ─/g)].map(([, name = '']) => name);
    if (names.length > 0) floors.unshift(names);
    if (!line.startsWith('│')) continue;
    for (const [column, text] of line.split('│').slice(1, -1).entries()) {
      const wing = floors[0]?.[column] ?? '';
      texts.set(wing, `${texts.get(wing) ?? ''}${text}`);
    }
  }
  const ranksOf = (text: string) => text.split('<').map((rank) => rank.split(',').map((room) => room.trim()));
  return { floors, rooms: new Map([...texts].map(([wing, text]) => [wing, ranksOf(text)])) };
}

export function placeOf(path: string): Place {
  const [top = '', ...inside] = path.split('/');
  const [wing = '', room = ''] = top === 'src' ? inside : [top, ...inside];
  return { wing, room: room.replace(/\.ts$/, '') };
}

export function nameOf({ wing, room }: Place): string {
  return `${wing}/${room}`;
}

/**
 * Returns the floor of a room's wing, and the rank of the room in its wing, or null if the drawing does not show the room.
 */
export function heightOf({ floors, rooms }: Drawing, { wing, room }: Place): { floor: number; rank: number } | null {
  const floor = floors.findIndex((wings) => wings.includes(wing));
  const rank = (rooms.get(wing) ?? []).findIndex((side) => side.includes(room));
  return floor < 0 || rank < 0 ? null : { floor, rank };
}

/** Returns true if a file of `upper` may import from `lower`, because it is the same room or a lower one. */
export function isBelow(drawing: Drawing, lower: Place, upper: Place): boolean {
  const below = heightOf(drawing, lower);
  const above = heightOf(drawing, upper);
  if (below === null || above === null) return false;
  if (lower.wing !== upper.wing) return below.floor < above.floor;
  return lower.room === upper.room || below.rank < above.rank;
}
