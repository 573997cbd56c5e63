import { Select } from '@mantine/core';

interface Props<Value extends string> {
  label: string;
  /** Words for no filter, for example `Any status`. */
  all: string;
  width: number;
  value: Value | undefined;
  options: { value: Value; label: string }[];
  onChange: (value: Value | undefined) => void;
}

/** A filter with more values than chips have room for. */
export function FilterSelect<Value extends string>({ label, all, width, value, options, onChange }: Props<Value>) {
  return (
    <Select
      aria-label={label}
      placeholder={all}
      clearable
      w={width}
      value={value ?? null}
      data={options}
      onChange={(next) => onChange(options.find((option) => option.value === next)?.value)}
    />
  );
}
