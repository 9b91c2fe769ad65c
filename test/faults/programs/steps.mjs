// Preloaded modules build on this: they count the steps of a process, kill, stop or fail it at the planned ones, and set its clock.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const CLOCK_CHECK_MS = 50

/**
 * Each act is a file in a directory, and the first process that reaches its step carries it out, once.
 * @returns called at each step, a function that tells whether the step is to fail
 */
export function createActs(directory) {
  const planned = join(directory, 'planned')

  function act(forMs) {
    if (forMs > 0) stop(forMs)
    else process.kill(process.pid, 'SIGKILL')
  }

  return function reached(step) {
    const name = readdirSync(planned)
      .sort()
      .find((one) => one.endsWith(`-at-${step}`))
    if (name === undefined) return false
    try {
      const { forMs, afterMs } = JSON.parse(readFileSync(join(planned, name), 'utf8'))
      renameSync(join(planned, name), join(directory, 'done', name))
      if (name.includes('-failed-at-')) return true
      if (step === 'later') setTimeout(() => act(forMs), afterMs).unref()
      else act(forMs)
    } catch (error) {
      // Another process was faster.
      if (error.code !== 'ENOENT') throw error
    }
    return false
  }
}

function stop(ms) {
  const script = `sleep ${ms / 1_000}; kill -CONT ${process.pid}`
  const env = { PATH: process.env.PATH }
  spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true, env }).unref()
  process.kill(process.pid, 'SIGSTOP')
}

/**
 * Counts steps around the POST requests that the process sends by `node:http`.
 * @param stepsOf names the steps before a request leaves, and once its answer has begun
 */
export function stepRequests(stepsOf, reached) {
  const { request } = http
  http.request = (...args) => {
    const sent = request(...args)
    const { end } = sent
    sent.end = (body, ...rest) => {
      if (sent.method === 'POST') {
        const { before, after } = stepsOf(sent, body)
        if (before !== undefined) reached(before)
        if (after !== undefined) sent.prependOnceListener('response', () => reached(after))
      }
      return end.call(sent, body, ...rest)
    }
    return sent
  }
  syncBuiltinESMExports()
}

/** Sets the process's clock by the milliseconds in a file. Timers go on: the monotonic clock of a machine cannot be set. */
export function stepClock(file) {
  const RealDate = Date
  let offset = 0

  function check() {
    try {
      offset = Number(readFileSync(file, 'utf8'))
    } catch {
      offset = 0
    }
  }

  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offset)
      else super(...parts)
    }

    static now() {
      return RealDate.now() + offset
    }
  }
  check()
  setInterval(check, CLOCK_CHECK_MS).unref()
}
