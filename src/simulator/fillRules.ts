import type { FillBehaviour } from './controlSchemas.js'

interface FillRule {
  /** Any account if absent. */
  readonly account?: string | undefined
  readonly symbol?: string | undefined
  /** The number of orders; unlimited if absent. */
  readonly times?: number | undefined
  readonly behaviour: FillBehaviour
}

export function createFillRules(standard: FillBehaviour) {
  let rules: { rule: FillRule; left: number }[] = []
  return {
    add(rule: FillRule): void {
      rules.unshift({ rule, left: rule.times ?? Number.POSITIVE_INFINITY })
    },
    clear: (): void => {
      rules = []
    },
    /** The behaviour of a new order, by the newest matching rule, else the default. */
    take(account: string, symbol: string): FillBehaviour {
      const entry = rules.find(
        ({ rule }) => (rule.account ?? account) === account && (rule.symbol ?? symbol) === symbol,
      )
      if (!entry) return standard
      entry.left -= 1
      rules = rules.filter(({ left }) => left > 0)
      return entry.rule.behaviour
    },
  }
}

export type FillRules = ReturnType<typeof createFillRules>
