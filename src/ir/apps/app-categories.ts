/** Kinds of apps: groups, and the categories in each. Apps are tagged with categories, never with a group. */
export const APP_CATEGORIES = {
  coding: ['cli-agent', 'ide-extension', 'cloud-agent', 'programming-app', 'native-app-builder'],
  creative: ['creative-writing', 'video-gen', 'image-gen', 'audio-gen'],
  productivity: ['writing-assistant', 'general-chat', 'personal-agent', 'legal'],
  entertainment: ['roleplay', 'game'],
} as const;

export type AppCategoryGroup = keyof typeof APP_CATEGORIES;

export type AppCategory = (typeof APP_CATEGORIES)[AppCategoryGroup][number];

const KNOWN: ReadonlySet<string> = new Set(Object.values(APP_CATEGORIES).flat());

/** Categories that an app may have in all. */
const MAX_CATEGORIES_OF_APP = 10;

export function isAppCategory(name: string): name is AppCategory {
  return KNOWN.has(name);
}

/** Known and new categories of an app, in the order of first naming, within the limit. */
export function mergedCategories(known: readonly string[], named: readonly string[]): readonly string[] {
  return [...new Set([...known, ...named])].slice(0, MAX_CATEGORIES_OF_APP);
}
