/** Ways in which the operator can change the TLS of a connection. Each text is a part of a sentence. */
export interface TlsChoices {
  trust: string;
  noTls: string | null;
}

/** Choices for the connections to other servers than the database. Node reads NODE_EXTRA_CA_CERTS for all connections of the process. */
export function choicesOfNode(setting: string, protocolWithoutTls: string | null): TlsChoices {
  return {
    trust: 'set NODE_EXTRA_CA_CERTS to the path of its certificate',
    noTls: protocolWithoutTls && `begin ${setting} with ${protocolWithoutTls}:`,
  };
}

// The patterns match the code or the message of an error of Node, OpenSSL or pg. Libraries often keep only one of the two.
const NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)|wrong version number|does not support SSL/;
const TLS =
  /^(?:ERR_SSL_|ERR_OSSL_|ERR_TLS_|CERT_|CRL_|EPROTO|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE)|certificate|SSL connection|secure TLS connection/;

/** Matches the hint that Node adds to the message about an authority that is not trusted. The remedy of the service takes its place. */
const HINT = /; if the root CA .*$/s;

/** Describes an error of TLS: the problem as a clause about the server ("it"), the remedy as a sentence. Null for other errors. */
export function describeTlsFault(error: unknown, choices: TlsChoices): { problem: string; remedy: string } | null {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const matches = (pattern: RegExp) => pattern.test(code) || pattern.test(message);
  if (matches(NO_TLS)) {
    const orWithout = choices.noTls === null ? '' : `, or on a network that you trust ${choices.noTls}`;
    return {
      problem: `it offers no TLS (${shortMessage(error as Error)})`,
      remedy: `Turn on TLS on the server${orWithout}.`,
    };
  }
  return matches(TLS)
    ? {
        problem: `the check of its TLS certificate or the TLS handshake failed (${shortMessage(error as Error)})`,
        remedy: `Check the certificate of the server. If you trust its authority, ${choices.trust}.`,
      }
    : null;
}

/** Returns the message of an error in one line. For an error of OpenSSL, returns its reason, because its message has positions in C code. */
export function shortMessage(error: Error): string {
  const { reason, message, code } = error as Error & { reason?: unknown; code?: string };
  const text = typeof reason === 'string' && reason !== '' ? reason : message.replace(HINT, '').trim();
  return text.replace(/\s+/g, ' ') || (code ?? error.name);
}
