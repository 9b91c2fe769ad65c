import { describe, expect, it } from 'vitest'
import { type Ask, remembered } from '../../web/chain/remembered.js'

interface Count {
  readonly count: number
  readonly complete: boolean
}

const signalOf = () => new AbortController().signal

/** A question with a whole answer, another one each time. */
function counting(): Ask<Count> {
  let count = 0
  return async () => ({ count: ++count, complete: true })
}

describe('a question that is asked again', () => {
  it('tells first what was answered before, to which more may have come', async () => {
    const ask = remembered(counting())
    const told: Count[] = []
    expect(await ask(signalOf(), (value) => told.push(value))).toEqual({ count: 1, complete: true })
    expect(told).toEqual([])
    expect(await ask(signalOf(), (value) => told.push(value))).toEqual({ count: 2, complete: true })
    expect(told).toEqual([{ count: 1, complete: false }])
  })

  it('takes nothing back from who asks on and on', async () => {
    const ask = remembered(counting())
    await ask(signalOf(), () => undefined)
    const [signal, told]: [AbortSignal, Count[]] = [signalOf(), []]
    await ask(signal, (value) => told.push(value))
    await ask(signal, (value) => told.push(value))
    expect(told).toEqual([{ count: 1, complete: false }])
  })

  it('tells first what it was told meanwhile, when it was never answered', async () => {
    const half = { count: 1, complete: false }
    const ask = remembered<Count>(async (_signal, tell) => {
      tell(half)
      throw new Error('left')
    })
    await expect(ask(signalOf(), () => undefined)).rejects.toThrow('left')
    const told: Count[] = []
    await expect(ask(signalOf(), (value) => told.push(value))).rejects.toThrow('left')
    expect(told).toEqual([half, half])
  })

  it('forgets nothing newer for the late answer to who has left', async () => {
    let answerLate = (_value: Count) => {}
    const late = new Promise<Count>((resolve) => {
      answerLate = resolve
    })
    const answers = [late, { count: 2, complete: true }, { count: 3, complete: true }]
    const ask = remembered<Count>(async (_signal, tell) => {
      const answer = await answers.shift()
      if (answer === undefined) throw new Error('asked too often')
      tell(answer)
      return answer
    })
    const left = new AbortController()
    const first = ask(left.signal, () => undefined)
    left.abort()
    await ask(signalOf(), () => undefined)
    answerLate({ count: 1, complete: true })
    await first
    const told: Count[] = []
    await ask(signalOf(), (value) => told.push(value))
    expect(told[0]).toEqual({ count: 2, complete: false })
  })
})
