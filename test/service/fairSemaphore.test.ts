import { describe, expect, test } from 'vitest'
import { createFairSemaphore, type FairSemaphore } from '../../src/service/fairSemaphore.js'

const LIMITS = { permits: 1, permitsPerParty: 1, maxWaiting: 4, maxWaitingPerParty: 2 }
const LONG_MS = 60_000

/** Asks for a permit under a name, and notes the order in which the permits and refusals come. */
function noting(semaphore: FairSemaphore<string>) {
  const noted: string[] = []
  const ask = (party: string, name: string) =>
    semaphore.acquire(party, LONG_MS).then((how) => {
      noted.push(how === 'acquired' ? name : `${name} ${how}`)
    })
  return { noted, ask }
}

describe('a fair semaphore', () => {
  test('lets the parties take turns, however many of one wait', async () => {
    const semaphore = createFairSemaphore<string>(LIMITS)
    const { noted, ask } = noting(semaphore)
    await ask('a', 'a1')
    const others = [ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')]
    semaphore.release('a')
    await others[0]
    semaphore.release('a')
    await others[2]
    semaphore.release('b')
    await others[1]
    expect(noted).toEqual(['a1', 'a2', 'b1', 'a3'])
    semaphore.release('a')
    expect(semaphore.waiting()).toBe(0)
  })

  test('gives one party no more than its permits, also while others are free', async () => {
    const semaphore = createFairSemaphore<string>({ ...LIMITS, permits: 2 })
    const { noted, ask } = noting(semaphore)
    await ask('a', 'a1')
    const second = ask('a', 'a2')
    await ask('b', 'b1')
    expect(noted).toEqual(['a1', 'b1'])
    semaphore.release('a')
    await second
    expect(noted).toEqual(['a1', 'b1', 'a2'])
  })

  test('refuses what is beyond a party’s line at once', async () => {
    const semaphore = createFairSemaphore<string>(LIMITS)
    const { noted, ask } = noting(semaphore)
    await ask('a', 'a1')
    void ask('a', 'a2')
    void ask('a', 'a3')
    await ask('a', 'a4')
    expect(noted).toEqual(['a1', 'a4 crowded-out'])
    expect(semaphore.waiting()).toBe(2)
  })

  test('takes the last place of the longest line for a party with a shorter one', async () => {
    const semaphore = createFairSemaphore<string>(LIMITS)
    const { noted, ask } = noting(semaphore)
    await ask('a', 'a1')
    void ask('a', 'a2')
    const last = ask('a', 'a3')
    void ask('b', 'b1')
    void ask('c', 'c1')
    void ask('d', 'd1')
    await last
    expect(noted).toEqual(['a1', 'a3 crowded-out'])
    // Each has one place now: a fifth party would take the only place of another.
    await ask('e', 'e1')
    expect(noted.at(-1)).toBe('e1 crowded-out')
    expect(semaphore.waiting()).toBe(4)
  })

  test('lets those who wait too long go, and takes nothing from those behind', async () => {
    const semaphore = createFairSemaphore<string>(LIMITS)
    expect(await semaphore.acquire('a', 0)).toBe('acquired')
    const patient = semaphore.acquire('b', LONG_MS)
    expect(await semaphore.acquire('c', 1)).toBe('late')
    expect(semaphore.waiting()).toBe(1)
    semaphore.release('a')
    expect(await patient).toBe('acquired')
    semaphore.release('b')
    expect(await semaphore.acquire('c', 0)).toBe('acquired')
  })
})
