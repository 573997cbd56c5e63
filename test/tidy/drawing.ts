/**
 * Folder and module of a source file. `wing` is the folder in `src/`, or `scripts`. `room` is the module, which is a folder or file in the
 * wing. For example, src/hotel/rates/store.ts has the wing `hotel` and the room `rates`, and src/service/app.ts has `service` and `app`.
 */
interface Place {
  wing: string;
  room: string;
}

export interface Drawing {
  /**
   * Names of the folders on each level of the diagram in docs/ARCHITECTURE.md, lowest level first. They are the folders of `src/`, and
   * `scripts`.
   */
  floors: string[][];
  /**
   * Names of the modules on each level inside a folder, lowest level first, keyed by the name of the folder. Modules of one level may not
   * import each other.
   */
  rooms: Map<string, string[][]>;
}

/**
 * Reads the diagram in docs/ARCHITECTURE.md. `─ name/ ─` begins a folder, and the lines below it list its modules. `a < b, c` means that
 * the modules b and c are one level above the module a and may import it.
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
 * Returns two levels: `floor` of the module's folder in the diagram, and `rank` of the module in its folder. Returns null if the diagram
 * does not show the module.
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
