// @vitest-environment happy-dom
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { ResumeField } from './resume-field.tsx';

function files(...names: readonly string[]) {
  const dropped = names.map(name => new File(['%PDF-1.7'], name));
  return { dataTransfer: { types: ['Files'], files: dropped } };
}

test('dropping two files takes none and asks for one', () => {
  const choose = vi.fn();
  render(
    <form>
      <ResumeField
        file={new File(['%PDF-1.7'], 'chosen.pdf')}
        onChoose={choose}
        error={undefined}
        uploadProgress={undefined}
      />
      <input aria-label="Beside it" />
    </form>,
  );
  const field = screen.getByLabelText('Resume/CV');
  fireEvent.drop(field, files('one.pdf', 'other.pdf'));
  expect(choose).not.toHaveBeenCalled();
  expect(screen.getByText('Drop one file.').id).toBe(field.getAttribute('aria-describedby'));
  fireEvent.drop(screen.getByLabelText('Beside it'), files('one.pdf'));
  expect(screen.queryByText('Drop one file.')).toBeNull();
  expect(choose).toHaveBeenCalledWith(expect.objectContaining({ name: 'one.pdf' }));
});
