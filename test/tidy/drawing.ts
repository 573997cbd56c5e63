/**
 * Position of a file in the source. `wing` is its folder in `src/`, or `tools`. `room` is its module, which is a folder
 * or file in the wing. For example, src/hotel/rates/store.ts has `hotel` and `rates`, and src/service/app.ts has
 * `service` and `app`.
 */
export interface Place {
  wing: string;
  room: string;
}

export interface Drawing {
  /**
   * Folders of `src/`, and the folder `tools`, on each level of the diagram in docs/ARCHITECTURE.md, lowest level
   * first.
   */
  floors: string[][];
  /**
   * Modules of each folder, keyed by the name of the folder. They are grouped by level, lowest level first. Modules of
   * one level may not import each other.
   */
  rooms: Map<string, string[][]>;
}

/**
 * Reads the diagram in docs/ARCHITECTURE.md. `─ name/ ─` begins a folder of `src/`, and the lines below it list its
 * modules. `a < b, c` means that the modules b and c may import the module a.
 * @throws Error if the text has no diagram
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
 * Returns the level of the module's folder in the diagram (`floor`), and the level of the module in its folder
 * (`rank`). Returns null if the diagram does not show the module.
 */
export function heightOf({ floors, rooms }: Drawing, { wing, room }: Place): { floor: number; rank: number } | null {
  const floor = floors.findIndex((wings) => wings.includes(wing));
  const rank = (rooms.get(wing) ?? []).findIndex((side) => side.includes(room));
  return floor < 0 || rank < 0 ? null : { floor, rank };
}

/**
 * Returns true if files of module `upper` may import files of module `lower`. They may if both are the same module, or
 * if `lower` is below `upper` in the diagram.
 */
export function isBelow(drawing: Drawing, lower: Place, upper: Place): boolean {
  const below = heightOf(drawing, lower);
  const above = heightOf(drawing, upper);
  if (below === null || above === null) return false;
  if (lower.wing !== upper.wing) return below.floor < above.floor;
  return lower.room === upper.room || below.rank < above.rank;
}
