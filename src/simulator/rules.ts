interface Counted {
  /** How often it applies; if absent, as often as the rules' `usually`. */
  readonly times?: number | undefined
}

/** Rules that a command adds, each for so many cases: the first one that matches a case applies. */
export function createRules<T extends Counted>(usually: number, order: 'newest first' | 'oldest first') {
  let rules: { readonly rule: T; left: number }[] = []
  return {
    add(rule: T): void {
      const added = { rule, left: rule.times ?? usually }
      rules = order === 'newest first' ? [added, ...rules] : [...rules, added]
    },
    clear: (): void => {
      rules = []
    },
    /** Counts the case. */
    take(matches: (rule: T) => boolean): T | undefined {
      const found = rules.find(({ rule }) => matches(rule))
      if (!found) return undefined
      found.left -= 1
      rules = rules.filter(({ left }) => left > 0)
      return found.rule
    },
  }
}

export type Rules<T extends Counted> = ReturnType<typeof createRules<T>>
