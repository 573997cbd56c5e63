import { Box, Button, Code, Group } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, CopyIcon } from './icons.tsx';

const WRAPPED = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', userSelect: 'all' } as const;

/** A value that somebody needs elsewhere, with a button that copies it. Over plain HTTP, browsers let nobody copy but by hand. */
export function CopyField({ label, value, isCode = true }: { label: string; value: string; isCode?: boolean }) {
  const { copied, copy } = useClipboard();
  return (
    <Box mb={14}>
      <Group justify="space-between" mih={26} fz="0.8125rem" c="dimmed">
        {label}
        {window.isSecureContext && (
          <Button
            mr={-8}
            variant="subtle"
            size="compact-sm"
            leftSection={copied ? <CheckIcon size={15} /> : <CopyIcon size={15} />}
            aria-label={`Copy ${label}`}
            onClick={() => copy(value)}
          >
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
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
