import type { Request, RequestHandler, Response } from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Problem } from '../../../src/server/http/problems.js'
import { clientRateLimit } from '../../../src/server/http/rateLimit.js'

const MINUTE_MS = 60_000

/** A limiter of two requests a minute, and a clock that the test moves. */
function setUp() {
  let now = 1_000_000
  return underTest(
    clientRateLimit(2, () => now),
    (ms) => {
      now += ms
    },
  )
}

function underTest(limit: RequestHandler, pass: (ms: number) => void) {
  return {
    pass,
    /** The headers of a request from that address; the problem when it was refused. */
    ask(ip: string): Record<string, string> | Problem {
      const headers: Record<string, string> = {}
      const setHeader = (name: string, value: string) => {
        headers[name] = value
      }
      try {
        limit({ ip } as Request, { setHeader } as unknown as Response, () => undefined)
        return headers
      } catch (error) {
        if (error instanceof Problem) return error
        throw error
      }
    },
  }
}

describe('the client rate', () => {
  test('is told with every answer', () => {
    const { ask, pass } = setUp()
    expect(ask('192.0.2.1')).toEqual({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: '"default";r=1;t=60',
    })
    pass(20_500)
    expect(ask('192.0.2.1')).toMatchObject({ RateLimit: '"default";r=0;t=40' })
  })

  test('refuses no longer when the clock is set back by an hour', () => {
    const now = Date.now
    let setBackBy = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - setBackBy)
    onTestFinished(() => clock.mockRestore())
    const { ask } = underTest(clientRateLimit(1), () => undefined)
    ask('192.0.2.1')
    setBackBy = 3_600_000
    const refused = ask('192.0.2.1')
    expect(refused instanceof Problem && Number(refused.headers['Retry-After'])).toBeLessThanOrEqual(60)
  })

  test('refuses until the minute that began with the first request is over', () => {
    const { ask, pass } = setUp()
    ask('192.0.2.1')
    pass(MINUTE_MS - 1)
    ask('192.0.2.1')
    expect(ask('192.0.2.1')).toMatchObject({ code: 'rate-limited', headers: { 'Retry-After': '1' } })
    pass(1)
    expect(ask('192.0.2.1')).toMatchObject({ RateLimit: '"default";r=1;t=60' })
  })

  test.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:0:100::1', '2001:db8:0:200::1'],
    ['', '192.0.2.1'],
  ])('counts %j and %j apart', (one, other) => {
    const { ask } = setUp()
    ask(one)
    ask(one)
    expect(ask(one)).toBeInstanceOf(Problem)
    expect(ask(other)).toMatchObject({ RateLimit: '"default";r=1;t=60' })
  })

  test.each([
    ['an IPv6 network of /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2'],
    ['the same address in two spellings', '2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['IPv4 written as IPv6', '192.0.2.1', '::ffff:192.0.2.1'],
  ])('counts %s as one', (_name, one, other) => {
    const { ask } = setUp()
    ask(one)
    expect(ask(other)).toMatchObject({ RateLimit: '"default";r=0;t=60' })
  })
})
