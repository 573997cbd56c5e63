import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

/** A private key and its self-signed certificate, both PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

export interface CertificateOptions {
  /** Host names and IP addresses that the certificate is for. */
  hosts?: string[];
  notBefore?: Date;
  notAfter?: Date;
}

/** Makes a certificate for `localhost` and 127.0.0.1, valid for a year from yesterday, where not told otherwise. */
export async function makeCertificate(options: CertificateOptions = {}): Promise<Certificate> {
  const { hosts = ['localhost', '127.0.0.1'], notBefore = daysFromNow(-1), notAfter = daysFromNow(365) } = options;
  const altNames = hosts.map((host) =>
    isIP(host) === 0 ? { type: 2 as const, value: host } : { type: 7 as const, ip: host },
  );
  // The name is new each time: among trusted certificates of one name OpenSSL takes the first, whatever its key.
  const made = await generate([{ name: 'commonName', value: `Roomservice test ${randomUUID()}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: notBefore,
    notAfterDate: notAfter,
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { key: made.private, cert: made.cert };
}

/** From here on, TLS connections of this process accept the certificate (and all that they accepted before). */
export function trustCertificate(cert: string): void {
  setDefaultCACertificates([...getCACertificates('default'), cert]);
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}
