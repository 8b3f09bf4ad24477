import type {
  ClassifierObject,
  CreateClassifier,
  UpdateClassifier,
} from '../../../contract/classifiers/classifier.ts';
import type { RouteExample } from '../../route.ts';
import { WORKSPACE_ID } from './ids.ts';

const DIMENSIONS = [
  {
    name: 'topic',
    description: 'What the user asks about.',
    values: [
      { value: 'billing', description: 'Invoices, payments and refunds.' },
      { value: 'shipping', description: 'Parcels and their delivery.' },
      { value: 'other', description: null },
    ],
  },
];

const CLASSIFIER = {
  id: '0d6f2a34-55c1-4b57-8f4e-3a1c6b7d9e20',
  workspace_id: WORKSPACE_ID,
  name: 'Topics',
  description: 'Requests of customers to the support of a shop.',
  is_active: true,
  model: 'simulator/standard',
  dimensions: DIMENSIONS,
  sampling_rate: 1,
  monthly_budget_usd: 20,
  used_usd: 0,
  last_problem: null,
  created_at: '2026-11-17T05:17:05.423Z',
  updated_at: '2026-11-17T05:17:05.423Z',
  managed_by: null,
} satisfies ClassifierObject;

const BY_ID = { id: CLASSIFIER.id };

/** Classifiers. */
export const CLASSIFIER_EXAMPLES = {
  createClassifier: {
    body: {
      name: 'Topics',
      description: 'Requests of customers to the support of a shop.',
      model: 'simulator/standard',
      dimensions: DIMENSIONS,
      monthly_budget_usd: 20,
    } satisfies CreateClassifier,
    answer: { data: CLASSIFIER },
  },
  listClassifiers: { answer: { data: [CLASSIFIER], total_count: 1 } },
  getClassifier: { params: BY_ID, answer: { data: CLASSIFIER } },
  updateClassifier: {
    params: BY_ID,
    body: { is_active: false } satisfies UpdateClassifier,
    answer: { data: { ...CLASSIFIER, is_active: false, updated_at: '2026-11-17T05:18:41.007Z' } },
  },
  deleteClassifier: { params: BY_ID, answer: { deleted: true } },
} as const satisfies Record<string, RouteExample>;
