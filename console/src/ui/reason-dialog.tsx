import { Button, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';

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

/** Asks before something that nobody can take back. */
export function ReasonDialog({ question, onClose }: { question: Question | null; onClose: () => void }) {
  return (
    <Modal
      opened={question !== null}
      onClose={onClose}
      title={question?.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {question && <Form key={question.title} question={question} onClose={onClose} />}
    </Modal>
  );
}

function Form({ question, onClose }: { question: Question; onClose: () => void }) {
  const { text, reasons, press, isGrave, run } = question;
  const [reason, setReason] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run(reason.trim() || undefined);
        onClose();
      }}
    >
      <p style={{ marginTop: 0 }}>{text}</p>
      {reasons && (
        <>
          <TextInput
            label="Reason"
            description="For your people alone. Partners never see it."
            maxLength={200}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <div style={{ display: 'flex', flexWrap: 'wrap', gap: 6, marginTop: 10 }}>
            {reasons.map((each) => (
              <Button key={each} variant="default" radius="xl" size="compact-sm" h={36} onClick={() => setReason(each)}>
                {each.slice(0, -1)}
              </Button>
            ))}
          </div>
        </>
      )}
      <div style={{ display: 'flex', gap: 8, marginTop: 24 }}>
        <Button type="submit" data-autofocus={reasons === undefined || undefined} {...(isGrave && { color: 'red.9' })}>
          {press}
        </Button>
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
      </div>
    </form>
  );
}
