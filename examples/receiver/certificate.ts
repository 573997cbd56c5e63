import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const VALID_DAYS = 3650;

/** Private key and certificate in PEM form, and the path of the certificate file. */
export interface Certificate {
  key: string;
  cert: string;
  path: string;
}

/** Reads the self-signed certificate for `localhost` and 127.0.0.1 from the folder. Makes it if the folder holds no certificate yet. */
export async function readOrMakeCertificate(folder: string): Promise<Certificate> {
  const path = join(folder, 'certificate.pem');
  const keyPath = join(folder, 'key.pem');
  if (!existsSync(path)) {
    const { private: key, cert } = await makeCertificate();
    mkdirSync(folder, { recursive: true });
    writeFileSync(keyPath, key, { mode: 0o600 });
    // The certificate is written after the key, so a folder that has a certificate always has its key too.
    writeFileSync(path, cert);
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
