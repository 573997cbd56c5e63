/** Ways in which the operator can change the TLS of a connection. Each text is a part of a sentence. */
export interface TlsChoices {
  /** Setting with the URL of the server, for example REDIS_URL. */
  setting: string;
  /** How to trust another certificate authority. */
  trust: string;
  /** How to connect without a check of the certificate. Null if this is not possible. */
  skipCheck: string | null;
  /** How to connect without TLS. Null if this is not possible. */
  noTls: string | null;
}

/** Choices for the connections to other servers than the database. Node reads NODE_EXTRA_CA_CERTS for all connections of the process. */
export function choicesOfNode(setting: string, protocolWithoutTls: string | null): TlsChoices {
  return {
    setting,
    trust: 'set NODE_EXTRA_CA_CERTS to the path of its certificate',
    skipCheck: null,
    noTls: protocolWithoutTls && `begin ${setting} with ${protocolWithoutTls}:`,
  };
}

interface Kind {
  /** Matches the code or the message of an error of Node, OpenSSL or pg. Libraries often keep only one of the two. */
  pattern: RegExp;
  problem: string;
  remedy: (choices: TlsChoices) => string;
}

const KINDS: Kind[] = [
  {
    pattern: /^CERT_HAS_EXPIRED|certificate has expired/,
    problem: 'its TLS certificate has expired',
    remedy: (choices) => `Renew the certificate on the server${orOnOwnNetwork(choices.skipCheck)}`,
  },
  {
    pattern: /^CERT_NOT_YET_VALID|certificate is not yet valid/,
    problem: 'its TLS certificate is not valid yet',
    remedy: (choices) =>
      `Check the clocks of both machines and the certificate on the server${orOnOwnNetwork(choices.skipCheck)}`,
  },
  {
    pattern: /^ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    problem: 'its TLS certificate is for another host name',
    remedy: (choices) =>
      `Write a host name of the certificate in ${choices.setting}${orOnOwnNetwork(choices.skipCheck)}`,
  },
  {
    pattern:
      /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_UNTRUSTED|INVALID_CA|INVALID_PURPOSE)|self-signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate/,
    problem: 'no trusted authority has signed its TLS certificate',
    remedy: (choices) => `If you trust the authority, ${choices.trust}${orOnOwnNetwork(choices.skipCheck)}`,
  },
  {
    pattern: /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)|wrong version number|does not support SSL/,
    problem: 'it offers no TLS',
    remedy: ({ noTls }) => `Turn on TLS on the server${orOnOwnNetwork(noTls)}`,
  },
  {
    pattern: /^(?:ERR_SSL_|ERR_OSSL_|ERR_TLS_|CERT_|CRL_|EPROTO)|SSL connection|secure TLS connection/,
    problem: 'the TLS handshake failed',
    remedy: ({ setting }) => `Check the TLS settings of the server, and the TLS parameters of ${setting}`,
  },
];

/** Matches the hint that Node adds to the message about an authority that is not trusted. The remedy of the service takes its place. */
const HINT = /; if the root CA .*$/s;

function orOnOwnNetwork(choice: string | null): string {
  return choice === null ? '' : `, or on a network that you trust ${choice}`;
}

/**
 * Describes an error of a TLS connection: the problem, as a clause about the server ("it"), and the remedy, as a sentence.
 * @returns null if TLS has not caused the error
 */
export function describeTlsFault(error: unknown, choices: TlsChoices): { problem: string; remedy: string } | null {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const kind = KINDS.find(({ pattern }) => pattern.test(code) || pattern.test(message));
  return kind === undefined
    ? null
    : { problem: `${kind.problem} (${shortMessage(error as Error)})`, remedy: `${kind.remedy(choices)}.` };
}

/** Returns the message of an error in one line. For an error of OpenSSL, returns its reason, because its message has positions in C code. */
export function shortMessage(error: Error): string {
  const { reason, message, code } = error as Error & { reason?: unknown; code?: string };
  const text = typeof reason === 'string' && reason !== '' ? reason : message.replace(HINT, '').trim();
  return text.replace(/\s+/g, ' ') || (code ?? error.name);
}
