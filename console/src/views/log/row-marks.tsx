import { counted } from '../../format/numbers.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import type { ShownGeneration } from './shown-generation.ts';

interface Mark {
  readonly icon: IconName;
  readonly text: string;
}

/** Small signs behind the model: what happened besides one plain call. */
export function RowMarks({ row }: { readonly row: ShownGeneration }) {
  const marks = marksOf(row);
  if (marks.length === 0) return null;
  return (
    <span class="mk">
      {marks.map(({ icon, text }) => (
        <span key={icon} title={text}>
          <Icon name={icon} size={12} />
          <span class="vh">{text}</span>
        </span>
      ))}
    </span>
  );
}

function marksOf({ attempts, tool_calls, is_guarded, is_from_cache, is_byok }: ShownGeneration): Mark[] {
  return [
    ...((attempts ?? 0) > 1 ? [{ icon: 'compare', text: `${attempts} attempts` } as const] : []),
    ...((tool_calls ?? 0) > 0
      ? [{ icon: 'tool', text: counted(tool_calls ?? 0, 'tool call') } as const]
      : []),
    ...(is_guarded ? [{ icon: 'guardrails', text: 'a guardrail found something' } as const] : []),
    ...(is_from_cache ? [{ icon: 'refresh', text: 'from the response cache' } as const] : []),
    ...(is_byok ? [{ icon: 'credentials', text: 'your own credential' } as const] : []),
  ];
}
