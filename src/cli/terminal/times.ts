/** `2026-08-03 10:00:00Z` of an ISO 8601 time; `none` for null. */
export function shownTime(time: string | null): string {
  return time === null ? 'none' : time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}
