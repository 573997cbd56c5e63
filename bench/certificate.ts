import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Certificate, makeCertificate } from '../test/support/certificate.ts';
import { openTemporaryFolder } from './temporary.ts';

/**
 * Certificate of the HTTPS servers that receive webhook deliveries in the benchmark. `settings` contains one environment variable, which
 * makes the measured service trust this certificate.
 */
interface TrustedCertificate {
  certificate: Certificate;
  settings: { NODE_EXTRA_CA_CERTS: string };
}

/** Makes a certificate for 127.0.0.1 and stores its public part in a file. The file is removed at the end of the run. */
export async function makeTrustedCertificate(resources: AsyncDisposableStack): Promise<TrustedCertificate> {
  const certificate = await makeCertificate();
  const folder = resources.use(await openTemporaryFolder());
  const path = join(folder.path, 'certificate.pem');
  await writeFile(path, certificate.cert);
  return { certificate, settings: { NODE_EXTRA_CA_CERTS: path } };
}
