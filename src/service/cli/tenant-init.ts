import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { OperatorError } from '#platform/errors.ts';
import { tenantTemplate } from '../tenant-document/template.ts';
import { print } from './terminal.ts';

/** Number of random bytes of the owner's password. */
const PASSWORD_BYTES = 18;

/**
 * Runs `roomservice tenant init`, which writes a new tenant document. The user with the role `owner` gets a random password. So the
 * document can be applied as it is, and nobody can guess the password. Only the user of the machine who ran the command can read the file.
 * @param file path of the new file. If undefined, the document is printed on stdout
 * @throws OperatorError if the file exists already, or cannot be written
 */
export async function initTenant(file: string | undefined): Promise<void> {
  const document = tenantTemplate(randomBytes(PASSWORD_BYTES).toString('base64url'));
  if (file === undefined) {
    print(document.trimEnd());
    return;
  }
  await writeFile(file, document, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'EEXIST'
        ? `${file} exists already, and was not changed. Give the path of a new file.`
        : `${file} cannot be written (${error.code}). Check the path and its permissions.`,
    );
  });
  print(
    `${file} was written. It contains a new password of the owner. Replace the other values with your own, ` +
      `and run "roomservice tenant apply ${file}".`,
  );
}
