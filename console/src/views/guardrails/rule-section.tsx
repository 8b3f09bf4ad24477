import type { ComponentChildren } from 'preact';
import type { Draft, DraftProblems } from './draft.ts';

/** What every section of the editor needs. */
export interface RuleProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly problems: DraftProblems;
  /** The configuration file declares the guardrail. */
  readonly isReadOnly: boolean;
}

interface Props {
  readonly title: string;
  readonly about: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section of the editor: what it is for at the left, its controls at the right. */
export function RuleSection({ title, about, children }: Props) {
  return (
    <section class="ed-s" aria-label={title}>
      <div class="ed-t">
        <h2>{title}</h2>
        <p>{about}</p>
      </div>
      <div class="ed-c">{children}</div>
    </section>
  );
}
