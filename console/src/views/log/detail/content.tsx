import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiError, ask } from '../../../api/request.ts';
import { Icon } from '../../../parts/icon.tsx';
import { FailureNote } from '../../../parts/states.tsx';

interface Props {
  readonly id: string;
  readonly generationId: string;
}

/** Prompt and answer. They are fetched only when the reader opens them, and shown as text. */
export function Content({ id, generationId }: Props) {
  const [isOpen, setOpen] = useState(false);
  const content = useQuery({
    queryKey: ['generation-content', generationId],
    queryFn: async () =>
      (await ask<{ data: unknown }>('/generation/content', { query: { id: generationId } })).data,
    enabled: isOpen,
    gcTime: 0,
  });
  const isAbsent = content.error instanceof ApiError && content.error.status === 404;
  return (
    <section class="dw-s" id={id}>
      <div class="hd">
        <h2>Content</h2>
      </div>
      {!isOpen && (
        <button class="b" type="button" onClick={() => setOpen(true)}>
          Show prompt and answer
        </button>
      )}
      {isAbsent && (
        <div class="note">
          <Icon name="credentials" />
          <span>Not stored: the workspace kept no prompts and answers then, or their retention is over.</span>
        </div>
      )}
      {content.isError && !isAbsent && (
        <FailureNote error={content.error} onRetry={() => void content.refetch()} />
      )}
      {content.data !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        <pre class="code" tabIndex={0}>
          {JSON.stringify(content.data, null, 2)}
        </pre>
      )}
    </section>
  );
}
