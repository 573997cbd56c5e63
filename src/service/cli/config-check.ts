import { inspectConfig, misspelledVariables, type Reading } from '#platform/config.ts';
import { asPlainText, type Setting, SETTINGS } from '#platform/settings.ts';
import { type Try, tryServers } from './config-tries.ts';
import { notify, print, printable, printJson } from './terminal.ts';

/** Variable of the service, as the command reports it. */
interface Variable {
  name: string;
  /**
   * Value that the service uses. In a URL, user name, password and query are replaced by `…`. Null if there is no value, or if the value is
   * a secret or faulty.
   */
  value: string | null;
  is_secret: boolean;
  source: 'environment' | 'file' | 'default' | 'not set';
  /** Path of the file that contains the value. Null unless the source is a file. */
  file: string | null;
  meaning: string;
  fault: string | null;
}

/**
 * Runs `roomservice config check`. The command prints all variables and all faults, and tries the servers that the configuration names. It
 * creates and changes nothing, and shows no secret.
 * @returns true if there is no fault
 */
export async function checkConfig(options: { json?: boolean }): Promise<boolean> {
  const inspected = inspectConfig();
  const variables = SETTINGS.map((setting) => describe(setting, inspected.readings.get(setting.name) as Reading));
  const warnings = misspelledVariables().map(printable);
  const tries = await tryServers(inspected);
  const faults = [
    ...variables.flatMap(({ fault }) => fault ?? []),
    ...tries.flatMap((each) => each.faults.map((fault) => `${each.what}: ${fault}`)),
  ];
  const isOk = faults.length === 0;
  if (options.json) {
    const asJson = tries.map(({ what, isTried, details, faults: found }) => ({
      what,
      tried: isTried,
      details,
      faults: found,
    }));
    printJson({ ok: isOk, variables, warnings, tries: asJson });
    return isOk;
  }
  print([...variables.flatMap(linesOf), '', ...warnings, ...tries.map(lineOfTry)].join('\n'));
  if (isOk) {
    print('\nNo fault was found.');
  } else {
    notify(`roomservice: The configuration has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`);
    faults.forEach((fault) => notify(`  ${printable(fault)}`));
  }
  return isOk;
}

function describe(
  { name, default: value, isSecret, meaning }: Setting,
  { text, source, file, fault }: Reading,
): Variable {
  const isShown = !isSecret && fault === null;
  const effective = source === 'default' ? value : text;
  return {
    name,
    value: isShown && effective !== null ? withoutLogin(effective) : null,
    is_secret: isSecret === true,
    source: source === 'default' && value === null ? 'not set' : source,
    file,
    meaning,
    fault,
  };
}

/** Returns the value. If it is a URL, replaces the parts that may be secret by `…`: user name, password and query. */
function withoutLogin(value: string): string {
  return value.includes('://') ? value.replace(/\/\/.*@/, '//…@').replace(/\?.*/s, '?…') : value;
}

function linesOf({ name, value, is_secret: isSecret, source, file, meaning, fault }: Variable): string[] {
  const shown = value ?? (isSecret && source !== 'not set' ? '(secret)' : '');
  const assignment = shown === '' ? name : `${name} = ${printable(shown)}`;
  return [
    `${assignment} (${file === null ? source : `file ${printable(file)}`})`,
    `  ${asPlainText(meaning)}`,
    ...(fault === null ? [] : [`  Fault: ${printable(fault)}`]),
  ];
}

function lineOfTry({ title, isTried, details, faults }: Try): string {
  const outcome = isTried ? (faults.length === 0 ? 'usable' : 'fault') : 'not tried';
  return [`${title}: ${outcome}.`, ...details, ...faults].map((part) => printable(part)).join(' ');
}
