import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { OperationName } from '../api/client.ts';
import { Chips } from './filters.tsx';
import { FormDialog, TextField, useWrite } from './form.tsx';
import { makeStore, useStore } from './store.ts';

export interface Question {
  title: string;
  text: string;
  action: string;
  color?: 'red' | undefined;
  cancel?: string;
  /** Word that has to be typed first, for what cannot be undone. */
  word?: string;
  /** Reasons that are often given. Left out: nobody is asked for a reason. */
  reasons?: string[];
  /** Reads that show what is done. */
  reads?: OperationName[];
  run: (reason: string | undefined) => unknown;
}

const NONE: Question = { title: '', text: '', action: '', run() {} };
/** The words stay while the dialog fades. */
const asked = makeStore({ question: NONE, isOpen: false });

/** Says what will happen, and asks before it does. The screen has a `QuestionDialog`. */
export function ask(question: Question): void {
  asked.set({ question, isOpen: true });
}

function close(): void {
  asked.set({ ...asked.get(), isOpen: false });
}

export function QuestionDialog() {
  const { question, isOpen } = useStore(asked);
  const { text, word, reasons, reads = [], run, ...form } = question;
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped(''), [question]);
  const place = useLocation({ select: ({ href }) => href });
  // Back leaves the place without an answer to its question.
  useEffect(() => close, [place]);
  const sending = useWrite(reads, async () => await run(typed.trim() || undefined), close);
  return (
    <FormDialog
      {...form}
      isOpen={isOpen}
      onClose={close}
      isReady={word === undefined || typed.trim() === word}
      sending={sending}
    >
      <p style={{ marginTop: 0 }}>{text}</p>
      {word !== undefined && (
        <TextField
          label={`Type “${word}” to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={setTyped}
        />
      )}
      {reasons && (
        <>
          <TextField
            label="Reason"
            description="For your people alone. Partners never see it."
            maxLength={200}
            mb={10}
            data-autofocus
            value={typed}
            onChange={setTyped}
          />
          <Chips
            label="Often given"
            options={reasons.map((each) => ({ value: each, label: each.slice(0, -1) }))}
            isPressed={(each) => each === typed}
            onPress={setTyped}
          />
        </>
      )}
    </FormDialog>
  );
}
