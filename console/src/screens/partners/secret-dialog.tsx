import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { CopyField } from '../../ui/copy-field.tsx';
import { OnceDialog } from '../../ui/once-dialog.tsx';

export type Kind = 'partners' | 'pms' | 'channels';

/** Key and secret as the service shows them once. They live in this dialog alone, and are gone when it closes. */
export interface Secret {
  kind: Kind;
  label: string;
  key: string;
  secret: string;
  /** What else to know, for example until when the old secret works. */
  note?: string;
}

/** The one dialog that shows a secret, with texts to hand on. */
export function SecretDialog({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  return (
    <OnceDialog
      isOpen={secret !== null}
      onClose={onClose}
      title={secret === null ? '' : `Key and secret of ${secret.label || 'the new credential'}`}
      note={`The secret is shown only now. ${secret?.note ?? 'Copy it, or hand it on, before you close this.'}`}
    >
      {secret !== null && <Content secret={secret} />}
    </OnceDialog>
  );
}

function Content({ secret }: { secret: Secret }) {
  const [form, setForm] = useState<keyof typeof FORMS>('shell');
  return (
    <>
      <CopyField label="Key" value={secret.key} />
      <CopyField label="Secret" value={secret.secret} />
      <SegmentedControl
        fullWidth
        mt="xs"
        mb="sm"
        aria-label="Text to hand on"
        value={form}
        onChange={setForm}
        data={[
          { value: 'shell', label: 'For a shell' },
          { value: 'env', label: 'For an .env file' },
          { value: 'mail', label: 'Mail, without the secret' },
        ]}
      />
      <CopyField label="Text to hand on" value={FORMS[form](secret, window.location.origin)} isCode={form !== 'mail'} />
    </>
  );
}

const FORMS: Record<'shell' | 'env' | 'mail', (secret: Secret, origin: string) => string> = {
  shell: ({ kind, key, secret }, origin) =>
    kind === 'channels'
      ? `export CHANNEL_KEY=${key} CHANNEL_SECRET=${secret}`
      : `export BASE=${origin} KEY=${key} SECRET=${secret}\ncurl "$BASE${TRY[kind]}" -H "X-API-Key: $KEY" -H "X-API-Secret: $SECRET"`,
  env: ({ kind, key, secret }, origin) =>
    kind === 'channels'
      ? `ROOMSERVICE_URL=${origin}\nROOMSERVICE_CHANNEL_KEY=${key}\nROOMSERVICE_CHANNEL_SECRET=${secret}`
      : `ROOMSERVICE_URL=${origin}\nROOMSERVICE_API_KEY=${key}\nROOMSERVICE_API_SECRET=${secret}`,
  mail: ({ key }, origin) =>
    `Hello,\n\nyour access to our house is ready.\n\nAddress: ${origin}\nKey: ${key}\nThe secret comes to you on another way.\n\n` +
    `How to begin: ${origin}/docs/guides/quick-start/\nAll calls: ${origin}/docs/\n`,
};

const TRY = { partners: '/v1/third-party/menu/', pms: '/v1/channel-manager/properties/' };
