import type { Tenant } from '../tenants/tenants.ts';
import type { LinkKind } from './store.ts';

interface MailedLink {
  kind: LinkKind;
  url: string;
  expiresAt: Date;
}

/**
 * The mail has no text that a person chose, except the name of the tenant. Otherwise an owner could use the service to send any text to any
 * address.
 */
export function linkMail(
  { name, timezone }: Tenant,
  { kind, url, expiresAt }: MailedLink,
): { subject: string; text: string } {
  const end = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: timezone }).format(
    expiresAt,
  );
  const [subject, reason] =
    kind === 'invite'
      ? [`Invitation to ${name}`, `${name} invites you to its account. Choose a password with this link:`]
      : [`New password for ${name}`, `An owner of ${name} asks you to choose a new password with this link:`];
  const text = `${reason}\n\n${url}\n\nThe link works once, until ${end}. If you do not know ${name}, ignore this mail.\n`;
  return { subject, text };
}
