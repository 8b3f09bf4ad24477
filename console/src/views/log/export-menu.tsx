import { useRef, useState } from 'preact/hooks';
import { send } from '../../api/request.ts';
import { Icon } from '../../parts/icon.tsx';
import { Popover } from '../../parts/popover.tsx';
import { knownMomentsOf, type Range } from '../../parts/range/range.ts';
import { FailureNote } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';

const FORMATS = [
  { format: 'ndjson', title: 'NDJSON, one object a line' },
  { format: 'csv', title: 'CSV, for spreadsheets' },
] as const;

interface Props {
  readonly range: Range;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Downloads all rows that the filters match. */
export function ExportMenu({ range, parameters }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [running, setRunning] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const download = async (format: string): Promise<void> => {
    setRunning(format);
    setError(null);
    try {
      const { fromMs, toMs } = knownMomentsOf(range, Date.now());
      const query = {
        ...parameters,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        format,
      };
      const response = await send('/generations', { query });
      save(await response.blob(), `generations.${format}`);
      setOpen(false);
      toast('The export is in your downloads.');
    } catch (failure) {
      setError(failure);
    } finally {
      setRunning(null);
    }
  };
  return (
    <>
      <button
        ref={button}
        class="b ico wide"
        type="button"
        aria-label="Export"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="download" size={14} />
      </button>
      {isOpen && (
        <Popover anchor={button} label="Export" onClose={() => setOpen(false)}>
          <ul class="menu">
            {FORMATS.map(({ format, title }) => (
              <li key={format}>
                <button type="button" disabled={running !== null} onClick={() => void download(format)}>
                  {running === format ? 'Writing…' : title}
                </button>
              </li>
            ))}
          </ul>
          {error !== null && <FailureNote error={error} />}
        </Popover>
      )}
    </>
  );
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
