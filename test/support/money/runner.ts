// Plays a sequence of steps on the model and on the chain, and holds the one to the other.

import { expect } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import type { TestChain } from '../chain.js'
import { USDC } from '../institution.js'
import { type Census, createCensus, heldOf, modelledCensus, nameOf } from './census.js'
import { createModel } from './model.js'
import { encodeCall, simulate } from './simulation.js'
import { escrowedOf, INITIAL_USDC, initialState } from './state.js'
import { type Step, SYMBOLS, WALLETS } from './steps.js'

/** Each call starts from the chain's state as it was now, and leaves it so. */
export async function createRunner(chain: TestChain) {
  const { calls, parse } = createCensus(chain)
  const baseTime = await chain.now()

  function model(steps: Step[]) {
    const state = initialState(baseTime)
    const apply = createModel(chain, state)
    return intoBlocks(steps).map((block) => {
      state.time += Math.max(1, block[0]?.elapsed ?? 0)
      const attempts = block.map(({ action }) => apply(action))
      return {
        time: state.time,
        steps: block,
        transactions: attempts.map(({ from, call: [contract, method, ...args] }) => ({
          from: chain.account(from),
          to: chain.addressOf(contract),
          data: encodeCall(contract, method, args),
        })),
        outcomes: attempts.map(({ expected }) => expected),
        census: modelledCensus(state),
        /** The shares of open deposits, by symbol. */
        deposited: new Map(SYMBOLS.map((symbol): [Hex, bigint] => [symbol, escrowedOf(state, symbol)])),
      }
    })
  }

  /**
   * Plays the steps. Fails unless each ends as modelled, and unless after every block everyone holds what the model
   * says and nothing was created or lost. Resolves with each one's revert, null for success.
   */
  return async function play(steps: Step[]): Promise<(string | null)[]> {
    const blocks = model(steps)
    const results = await simulate(chain, blocks, calls)
    expect(results).toHaveLength(blocks.length)
    for (const [index, modelled] of blocks.entries()) {
      const { outcomes, answers } = results[index] ?? { outcomes: [], answers: [] }
      const census = parse(answers)
      expect(outcomes, describeActions(modelled.steps)).toEqual(modelled.outcomes)
      expectConserved(census)
      expectAccounted(census, modelled.deposited)
      expect(census).toEqual(modelled.census)
    }
    return results.flatMap(({ outcomes }) => outcomes)
  }
}

/** USDC is where it was minted to or moved; a symbol's shares are held by someone. */
function expectConserved(census: Census): void {
  expect(heldOf(census, USDC)).toBe(BigInt(WALLETS.length) * INITIAL_USDC)
  for (const symbol of SYMBOLS) expect(heldOf(census, symbol)).toBe(census[`${nameOf(symbol)} supply`])
}

/** The escrow holds at least what it counts, and of shares exactly the claims and the open deposits. */
function expectAccounted(census: Census, deposited: ReadonlyMap<Hex, bigint>): void {
  expect(census['USDC escrow']).toBeGreaterThanOrEqual(
    (census.escrowed ?? 0n) + (census['USDC claimed'] ?? 0n),
  )
  for (const symbol of SYMBOLS) {
    const claimed = census[`${nameOf(symbol)} claimed`] ?? 0n
    expect(census[`${nameOf(symbol)} escrow`]).toBe(claimed + (deposited.get(symbol) ?? 0n))
  }
}

/** Steps of one block together: a step that comes later than the one before it begins the next. */
function intoBlocks(steps: Step[]): Step[][] {
  const blocks: Step[][] = []
  for (const step of steps) {
    const last = blocks.at(-1)
    if (last && step.elapsed === 0) last.push(step)
    else blocks.push([step])
  }
  return blocks
}

function describeActions(steps: Step[]): string {
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
  return steps.map(({ action }) => JSON.stringify(action, text)).join('\n')
}
