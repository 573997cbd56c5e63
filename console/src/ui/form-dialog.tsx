import { Modal } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Form } from './form.tsx';

interface Props extends ComponentProps<typeof Form> {
  title: string;
  isOpen: boolean;
  onClose: () => void;
}

/** A dialog that asks something before it acts. */
export function FormDialog({ title, isOpen, onClose, ...form }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Form {...form} onCancel={onClose} />
    </Modal>
  );
}
