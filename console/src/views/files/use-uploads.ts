import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { uploadFile } from '../../api/upload.ts';

/** A file on its way to the gateway. */
export interface RunningUpload {
  readonly id: number;
  readonly file: File;
  readonly sentBytes: number;
  /** Why it failed; null = it has not. */
  readonly error: unknown;
}

let lastId = 0;

/** Uploads of this view, one after the other. Leaving the view stops them. */
export function useUploads(workspaceId: string | undefined) {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly RunningUpload[]>([]);
  const stop = useRef(new AbortController());
  const queue = useRef<Promise<void>>(Promise.resolve());
  useEffect(() => () => stop.current.abort(), []);
  const change = (id: number, changed: Partial<RunningUpload>): void =>
    setUploads((before) => before.map((each) => (each.id === id ? { ...each, ...changed } : each)));
  const forget = (id: number): void => setUploads((before) => before.filter((each) => each.id !== id));
  const run = async (id: number, file: File): Promise<void> => {
    change(id, { error: null, sentBytes: 0 });
    try {
      await uploadFile({
        file,
        workspaceId,
        onProgress: (sentBytes) => change(id, { sentBytes }),
        signal: stop.current.signal,
      });
      forget(id);
      await queries.invalidateQueries({ queryKey: ['files'] });
    } catch (error) {
      change(id, { error });
    }
  };
  const enqueue = (id: number, file: File): void => {
    queue.current = queue.current.then(() => run(id, file));
  };
  return {
    uploads,
    forget,
    retry: ({ id, file }: RunningUpload) => enqueue(id, file),
    start: (files: Iterable<File>) => {
      for (const file of files) {
        const id = ++lastId;
        setUploads((before) => [...before, { id, file, sentBytes: 0, error: null }]);
        enqueue(id, file);
      }
    },
  };
}
