import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
}

interface CertificateOptions {
  /** Host names and IP addresses for which the certificate is valid. */
  hosts?: string[];
  notBefore?: Date;
  notAfter?: Date;
}

/** By default for `localhost` and 127.0.0.1, and valid from yesterday until a year from now. */
export async function makeCertificate(options: CertificateOptions = {}): Promise<Certificate> {
  const { hosts = ['localhost', '127.0.0.1'], notBefore = daysFromNow(-1), notAfter = daysFromNow(365) } = options;
  const altNames = hosts.map((host) =>
    isIP(host) === 0 ? { type: 2 as const, value: host } : { type: 7 as const, ip: host },
  );
  // The common name is random. If two trusted certificates had the same name, OpenSSL could take the wrong one, whose
  // key does not match.
  const made = await generate([{ name: 'commonName', value: `Roomservice test ${randomUUID()}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: notBefore,
    notAfterDate: notAfter,
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { key: made.private, cert: made.cert };
}

/** Certificates that `trustCertificate` has made this process trust, in PEM format. */
const trusted: string[] = [];

/** Makes this process trust the certificate, beside those of earlier calls, and no longer the authorities of the system. */
export function trustCertificate(cert: string): void {
  trusted.push(cert);
  setDefaultCACertificates(trusted);
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}
