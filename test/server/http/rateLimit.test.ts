import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientOf, createClientRateLimit } from '../../../src/server/http/rateLimit.js'

const MINUTE_MS = 60_000

/** A limiter of two requests a minute, and a clock that the test moves. */
function setUp() {
  let now = 1_000_000
  const limit = createClientRateLimit(2, () => now)
  const pass = (ms: number) => {
    now += ms
  }
  return {
    pass,
    ask: (ip: string) => limit.count(clientOf(ip)),
    isBarred: (ip: string) => limit.isBarred(clientOf(ip)),
    giveBack: (ip: string) => limit.giveBack(clientOf(ip)),
  }
}

describe('the client rate', () => {
  test('stands in the headers of every answer', () => {
    const { ask, pass } = setUp()
    expect(ask('192.0.2.1').headers).toEqual({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: '"default";r=1;t=60',
    })
    pass(20_500)
    expect(ask('192.0.2.1')).toMatchObject({
      isExceeded: false,
      headers: { RateLimit: '"default";r=0;t=40' },
    })
  })

  test('refuses no longer when the clock is set back by an hour', () => {
    const now = Date.now
    let setBackBy = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - setBackBy)
    onTestFinished(() => clock.mockRestore())
    const limit = createClientRateLimit(1)
    limit.count('a client')
    setBackBy = 3_600_000
    const { isExceeded, secondsLeft } = limit.count('a client')
    expect(isExceeded).toBe(true)
    expect(secondsLeft).toBeLessThanOrEqual(60)
  })

  test('refuses until the minute that began with the first request is over', () => {
    const { ask, pass } = setUp()
    ask('192.0.2.1')
    pass(MINUTE_MS - 1)
    ask('192.0.2.1')
    expect(ask('192.0.2.1')).toMatchObject({ isExceeded: true, secondsLeft: 1 })
    pass(1)
    expect(ask('192.0.2.1')).toMatchObject({
      isExceeded: false,
      headers: { RateLimit: '"default";r=1;t=60' },
    })
  })

  test('bars who goes on after a hundred refusals, until the next minute and no longer', () => {
    const { ask, isBarred, pass } = setUp()
    for (let n = 0; n < 2 + 100; n++) ask('192.0.2.1')
    expect(isBarred('192.0.2.1')).toBe(false)
    const { secondsLeft } = ask('192.0.2.1')
    expect([isBarred('192.0.2.1'), isBarred('192.0.2.2')]).toEqual([true, false])
    pass(1_000 * secondsLeft - 1)
    expect(isBarred('192.0.2.1')).toBe(true)
    pass(1)
    expect(isBarred('192.0.2.1')).toBe(false)
  })

  test('counts no longer what is given back, and never below nothing', () => {
    const { ask, giveBack } = setUp()
    for (let n = 0; n < 3; n++) giveBack('192.0.2.1')
    for (let n = 0; n < 5; n++) {
      expect(ask('192.0.2.1')).toMatchObject({ headers: { RateLimit: '"default";r=1;t=60' } })
      for (let again = 0; again < 2; again++) giveBack('192.0.2.1')
    }
  })

  test.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:0:100::1', '2001:db8:0:200::1'],
    ['', '192.0.2.1'],
  ])('counts %j and %j apart', (one, other) => {
    const { ask } = setUp()
    ask(one)
    ask(one)
    expect(ask(one).isExceeded).toBe(true)
    expect(ask(other)).toMatchObject({ isExceeded: false, headers: { RateLimit: '"default";r=1;t=60' } })
  })

  test.each([
    ['an IPv6 network of /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2'],
    ['the same address in two spellings', '2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['IPv4 written as IPv6', '192.0.2.1', '::ffff:192.0.2.1'],
  ])('counts %s as one', (_name, one, other) => {
    const { ask } = setUp()
    ask(one)
    expect(ask(other)).toMatchObject({ headers: { RateLimit: '"default";r=0;t=60' } })
  })
})
