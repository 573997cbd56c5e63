import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import classes from './copy-field.module.css';
import { CheckIcon, CopyIcon } from './icons.tsx';

/** A value that somebody needs elsewhere, with a button that copies it. */
export function CopyField({ label, value, isCode = true }: { label: string; value: string; isCode?: boolean }) {
  return (
    <div className={classes.field}>
      <div className={classes.head}>
        <span className={classes.label}>{label}</span>
        <CopyButton label={label} value={value} />
      </div>
      <pre className={isCode ? classes.code : classes.text}>{value}</pre>
    </div>
  );
}

export function CopyButton({ label, value }: { label: string; value: string }) {
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
