import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const VALID_DAYS = 3650;

/** A private key and its certificate, both PEM, and where the certificate is kept. */
export interface Certificate {
  key: string;
  cert: string;
  path: string;
}

/** The self-signed certificate for this machine alone that is kept in the folder; made when first asked for. */
export async function readOrMakeCertificate(folder: string): Promise<Certificate> {
  const path = join(folder, 'certificate.pem');
  const keyPath = join(folder, 'key.pem');
  if (!existsSync(path)) {
    const { private: key, cert } = await makeCertificate();
    mkdirSync(folder, { recursive: true });
    writeFileSync(keyPath, key, { mode: 0o600 });
    writeFileSync(path, cert); // last: where it is, the key is
  }
  return { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(path, 'utf8'), path };
}

function makeCertificate() {
  const notBeforeDate = new Date();
  const notAfterDate = new Date(notBeforeDate.getTime() + VALID_DAYS * 86_400_000);
  return generate([{ name: 'commonName', value: 'Roomservice example receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate,
    notAfterDate,
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
}
