import { describe, expect, it } from 'vitest'
import { type Ask, remembered } from '../../web/chain/remembered.js'

const { signal } = new AbortController()

describe('a question that is asked again', () => {
  it('tells first what was answered before', async () => {
    let count = 0
    const ask = remembered(async () => ++count)
    const told: number[] = []
    expect(await ask(signal, (value) => told.push(value))).toBe(1)
    expect(told).toEqual([])
    expect(await ask(signal, (value) => told.push(value))).toBe(2)
    expect(told).toEqual([1])
  })

  it('tells first what it was told meanwhile, when it was never answered', async () => {
    const half: Ask<string> = async (_signal, tell) => {
      tell('half')
      throw new Error('left')
    }
    const ask = remembered(half)
    await expect(ask(signal, () => undefined)).rejects.toThrow('left')
    const told: string[] = []
    await expect(ask(signal, (value) => told.push(value))).rejects.toThrow('left')
    expect(told).toEqual(['half', 'half'])
  })
})
