import { Box, Button, Code, Group } from '@mantine/core';
import { useEffect, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.tsx';

/** A value that somebody needs elsewhere, with a button that copies it. */
export function CopyField({ label, value, isCode = true }: { label: string; value: string; isCode?: boolean }) {
  return (
    <Box mb={14}>
      <Group justify="space-between" fz="0.8125rem" c="dimmed">
        {label}
        <CopyButton label={label} value={value} />
      </Group>
      <Code
        block
        mt={4}
        bd="1px solid var(--rs-line)"
        fz="0.8125rem"
        ff={isCode ? 'monospace' : 'text'}
        style={WRAPPED}
      >
        {value}
      </Code>
    </Box>
  );
}

const WRAPPED = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;

function CopyButton({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await copyText(value);
    setCopied(true);
  };
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={isCopied ? <CheckIcon size={15} /> : <CopyIcon size={15} />}
      aria-label={`Copy ${label}`}
      onClick={() => void copy()}
    >
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}

async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) {
    return await navigator.clipboard.writeText(text);
  }
  // Over plain HTTP, browsers have only this older way.
  const field = Object.assign(document.createElement('textarea'), { value: text });
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
