import { Modal, TextInput } from '@mantine/core';
import { type ComponentProps, useState } from 'react';
import { Form } from './form.tsx';

interface QuestionProps extends Pick<ComponentProps<typeof Form>, 'action' | 'color' | 'sending'> {
  /** Says what will happen. */
  text: string;
  /** Word that has to be typed first, for what cannot be undone. */
  word?: string;
  onClose: () => void;
}

/** Says what will happen, and asks before it does. */
export function Confirm({ title, isOpen, ...question }: QuestionProps & { title: string; isOpen: boolean }) {
  return (
    <Modal opened={isOpen} onClose={question.onClose} title={title}>
      <Question {...question} />
    </Modal>
  );
}

function Question({ text, word, onClose, ...form }: QuestionProps) {
  const [typed, setTyped] = useState('');
  return (
    <Form {...form} isReady={word === undefined || typed.trim() === word} onCancel={onClose}>
      <p style={{ marginTop: 0 }}>{text}</p>
      {word !== undefined && (
        <TextInput
          label={`Type “${word}” to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </Form>
  );
}
