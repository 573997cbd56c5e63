import { useEffect, useState } from 'react';
import { ChipChoice } from '../../ui/chips.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { OnceDialog } from '../../ui/once-dialog.tsx';
import { makeStore, useStore } from '../../ui/store.ts';
import type { Secret } from './key-kinds.ts';

const shown = makeStore<Secret | null>(null);

/** Shows a secret once. */
export const showSecret = shown.set;

function forget(): void {
  shown.set(null);
}

/** The one dialog that shows a secret, with texts to hand on. */
export function SecretDialog() {
  const shownSecret = useStore(shown);
  useEffect(() => forget, []);
  const { kind, label, key, secret = '', note = 'Copy it, or hand it on, before you close this.' } = shownSecret ?? {};
  return (
    <OnceDialog
      isOpen={shownSecret !== null}
      onClose={forget}
      title={`${key === undefined ? 'Secret' : 'Key and secret'} of ${label || 'the new credential'}`}
      note={`The secret is shown only now. ${note}`}
    >
      {key !== undefined && <CopyField label="Key" value={key} />}
      <CopyField label="Secret" value={secret} />
      {key !== undefined && <HandOn kind={kind} keyText={key} secret={secret} />}
    </OnceDialog>
  );
}

const FORMS = [
  { value: 'env', label: '.env' },
  { value: 'mail', label: 'Mail, without the secret' },
] as const;
type Form = (typeof FORMS)[number]['value'];

interface HandOnProps {
  kind: Secret['kind'] | undefined;
  keyText: string;
  secret: string;
}

/** Three texts for whoever needs the key. */
function HandOn(props: HandOnProps) {
  const [form, setForm] = useState<Form>();
  return (
    <>
      <ChipChoice label="Text to hand on" all="Shell" options={FORMS} value={form} onChange={setForm} />
      <CopyField label="Text to hand on" value={textOf(form, props)} isCode={form !== 'mail'} />
    </>
  );
}

function textOf(form: Form | undefined, { kind, keyText: key, secret }: HandOnProps): string {
  const { origin } = window.location;
  if (form === 'mail') {
    return (
      `Hello,\n\nyour access to our house is ready.\n\nAddress: ${origin}\nKey: ${key}\nThe secret comes to you on another way.\n\n` +
      `How to begin: ${origin}/docs/guides/quick-start/\nAll calls: ${origin}/docs/\n`
    );
  }
  const isChannel = kind === 'channels';
  if (form === 'env') {
    const prefix = isChannel ? 'ROOMSERVICE_CHANNEL' : 'ROOMSERVICE_API';
    return `ROOMSERVICE_URL=${origin}\n${prefix}_KEY=${key}\n${prefix}_SECRET=${secret}`;
  }
  // A channel signs its calls, so no single line of a shell makes one.
  if (isChannel) return `export CHANNEL_KEY=${key} CHANNEL_SECRET=${secret}`;
  const path = kind === 'pms' ? '/v1/channel-manager/properties/' : '/v1/third-party/menu/';
  return `export BASE=${origin} KEY=${key} SECRET=${secret}\ncurl "$BASE${path}" -H "X-API-Key: $KEY" -H "X-API-Secret: $SECRET"`;
}
