import { useState } from 'preact/hooks';
import type { KeyObject, ModelObject } from '../../api/contract.ts';
import { pricePerMillion, shortMoney } from '../../format/money.ts';
import { Picker } from '../../parts/picker.tsx';
import { useKeys } from '../keys/use-payer.ts';

interface ModelProps {
  readonly label: string;
  readonly value: string;
  readonly models: readonly ModelObject[];
  readonly onPick: (model: string) => void;
}

export function ModelPicker({ label, value, models, onPick }: ModelProps) {
  const options = models.map(({ id, pricing }) => ({
    value: id,
    label: id,
    detail: `$${pricePerMillion(Number(pricing.prompt))} / $${pricePerMillion(Number(pricing.completion))}`,
  }));
  return <Picker label={label} shown={value} value={value} options={options} onPick={onPick} />;
}

/** Which key pays, and what is left of its limit. */
export function KeyPicker({
  chosen,
  onPick,
}: {
  readonly chosen: KeyObject | undefined;
  readonly onPick: (hash: string) => void;
}) {
  const [search, setSearch] = useState('');
  const keys = useKeys(search, true);
  const options = (keys.data?.data ?? []).map(({ hash, name, label }) => ({
    value: hash,
    label: name,
    detail: label,
  }));
  return (
    <span class="r tight sm t3">
      Charged to key
      <Picker
        label="Key that pays"
        shown={chosen?.name ?? 'choose one'}
        value={chosen?.hash ?? ''}
        options={options}
        onPick={onPick}
        onSearch={(text) => setSearch(text.trim())}
      />
      {typeof chosen?.limit_remaining === 'number' && (
        <span class="nw">{shortMoney(chosen.limit_remaining)} left</span>
      )}
    </span>
  );
}
