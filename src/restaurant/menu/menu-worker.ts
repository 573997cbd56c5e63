import { setPriority } from 'node:os';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type ApiError, apiError } from '#platform/errors.ts';
import { toApiError } from '#platform/http/answers.ts';
import { decodeBody, type EncodedBody } from '#platform/http/body.ts';
import { MAX_FAULTS, MAX_RENDERED_MENU_BYTES } from '#platform/lib/bounds.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';
import { closed, compileSchema, invalidValue } from '#platform/lib/validation.ts';
import { menuFaults } from './menu-document.ts';
import { comparisonOf, planMenu, type WantedMenu, writesOf } from './menu-plan.ts';
import * as rendering from './rendering.ts';
import { MenuDocument } from './schema.ts';
import { dishDocument, type MenuOwner, type MenuTexts, parseMenu, unstamped } from './stored-menu.ts';

/*
 * Work on whole menus. It runs on a thread (`menu-thread.ts`), because it takes up to some hundred milliseconds. Each function takes and
 * returns texts and bytes, because the event loop needs long to copy many objects.
 */

export interface PlanTask {
  owner: MenuOwner;
  stored: MenuTexts;
  body: Omit<EncodedBody, 'bytes'> & { bytes: Uint8Array };
}

export interface PlannedMenu {
  /** Null if the stored menu equals the document already. */
  writes: MenuTexts | null;
  counts: { added: number; changed: number; taken_off: number };
  /** JSON of the `MenuComparison`. */
  comparison: string;
  /** JSON of the menu document after the change. */
  document: Uint8Array;
}

/** An error object would lose its class on its way from the thread. */
export type Refusal = Pick<ApiError, 'statusCode' | 'code' | 'message'>;

/**
 * The event loop runs first if too few cores are free. On other systems than Linux `setPriority` would change the priority of the whole
 * process.
 */
const PRIORITY = 10;

if (process.platform === 'linux') {
  setPriority(PRIORITY);
}

const schema = closed(MenuDocument);
const validator = compileSchema(schema);

export function plan(task: PlanTask): PlannedMenu | { refusal: Refusal } {
  try {
    return moved(planDocument(task));
  } catch (error) {
    const known = toApiError(error as Error);
    if (known === null) {
      throw error;
    }
    const { statusCode, code, message } = known;
    return { refusal: { statusCode, code, message } };
  }
}

export function fits({ owner, texts }: { owner: MenuOwner; texts: MenuTexts }): boolean {
  return rendering.fitsInto(MAX_RENDERED_MENU_BYTES, owner, parseMenu(texts));
}

export function renderMenu(task: { owner: MenuOwner; texts: MenuTexts }): rendering.RenderedMenu {
  return moved(rendering.renderMenu(task));
}

/** Lets the event loop have the bytes themselves. Copied, a menu of 16 MB would be in memory three times. */
function moved<Result extends object>(result: Result): Result {
  const arrays = Object.values(result).filter((value) => value instanceof Uint8Array);
  // A small array shares its memory with others.
  const whole = arrays.filter(({ length, buffer }) => length === buffer.byteLength);
  return move({ [transferableSymbol]: whole.map(({ buffer }) => buffer), [valueSymbol]: result }) as Result;
}

function planDocument({ owner, stored: texts, body }: PlanTask): PlannedMenu {
  const document = decodeDocument(body, owner.currency);
  const stored = parseMenu(texts);
  const { wanted, changes } = planMenu(owner, stored, document);
  const comparison = comparisonOf(wanted, changes);
  const { added, changed, taken_off } = comparison;
  return {
    writes: changes && writesOf(wanted, changes),
    counts: { added: added.length, changed: changed.length, taken_off: taken_off.length },
    comparison: JSON.stringify(comparison),
    document: Buffer.from(documentText(wanted)),
  };
}

function decodeDocument({ bytes: view, ...headers }: PlanTask['body'], currency: string): MenuDocument {
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.length);
  // A missing body counts as an empty object, so that the error message names the missing fields.
  const value = bytes.length === 0 ? {} : decodeBody({ bytes, ...headers }, schema);
  if (!validator.isValid(value)) {
    throw invalidValue(validator, value, 'body');
  }
  const faults = menuFaults(value, currency, MAX_FAULTS + 1);
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', MAX_FAULTS));
  }
  return value as MenuDocument;
}

function documentText({ sections, dishes, unnamed }: WantedMenu): string {
  return JSON.stringify({ ...unstamped(sections), dishes: [...dishes, ...unnamed].map(dishDocument) });
}
