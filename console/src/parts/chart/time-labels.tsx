import type { TimeLabel } from './time-scale.ts';

/** The texts below a chart over time. */
export function TimeLabels({ labels }: { readonly labels: readonly TimeLabel[] }) {
  return (
    <div class="x at" aria-hidden="true">
      {labels.map(({ place, text }) => (
        <span key={place} ref={(span) => span?.style.setProperty('left', `${place * 100}%`)}>
          {text}
        </span>
      ))}
    </div>
  );
}
