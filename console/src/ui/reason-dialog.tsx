import { Button, Group, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { TextField } from './fields.tsx';
import { Form } from './form.tsx';

export interface Question {
  title: string;
  /** What becomes of it, and who is told. */
  text: ReactNode;
  /** Reasons that are often given. Left out: nobody is asked for a reason. */
  reasons?: string[];
  /** Words of the button that does it. */
  press: string;
  isGrave: boolean;
  run: (reason: string | undefined) => void;
}

interface Props {
  question: Question;
  onClose: () => void;
}

/** Asks before something that nobody can take back. */
export function ReasonDialog({ question, onClose }: { question: Question | null; onClose: () => void }) {
  return (
    <Modal opened={question !== null} onClose={onClose} title={question?.title}>
      {question && <Asked key={question.title} question={question} onClose={onClose} />}
    </Modal>
  );
}

function Asked({ question: { text, reasons, press, isGrave, run }, onClose }: Props) {
  const [reason, setReason] = useState('');
  const sending = useMutation({
    mutationFn: async () => {
      run(reason.trim() || undefined);
      onClose();
    },
  });
  return (
    <Form action={press} color={isGrave ? 'red' : undefined} sending={sending} cancel="Keep it" onCancel={onClose}>
      <p style={{ marginTop: 0 }}>{text}</p>
      {reasons && (
        <>
          <TextField
            label="Reason"
            description="For your people alone. Partners never see it."
            maxLength={200}
            data-autofocus
            value={reason}
            onChange={setReason}
          />
          <Group gap={6} mt={10}>
            {reasons.map((each) => (
              <Button key={each} variant="default" radius="xl" size="compact-sm" h={36} onClick={() => setReason(each)}>
                {each.slice(0, -1)}
              </Button>
            ))}
          </Group>
        </>
      )}
    </Form>
  );
}
