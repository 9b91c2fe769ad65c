import type { NextFunction, Request, RequestHandler, Response } from 'express'

/**
 * Handlers that every request passes, as one layer of the router: a layer of its own costs a request more than most of them do.
 * An error ends the row, as in Express.
 */
export function oneLayer(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => run(handlers, 0, req, res, next)
}

function run(
  handlers: readonly RequestHandler[],
  at: number,
  req: Request,
  res: Response,
  next: NextFunction,
) {
  const handler = handlers[at]
  if (handler === undefined) return next()
  return handler(req, res, (error?: unknown) => {
    if (error === undefined) run(handlers, at + 1, req, res, next)
    else next(error)
  })
}
