import type { InputFault } from '../base/errors.ts'
import type { Environment } from '../http/proxy.ts'

export declare class InputReader {
  constructor(env: Environment)
  text(name: string): string | undefined
  required(name: string): string
  boolean(name: string, fallback: boolean): boolean
  optionalBoolean(name: string): boolean | undefined
  number(name: string, fallback: number, range?: { min?: number; max?: number; positive?: boolean }): number
  minutes(name: string, fallback: number): number
  seconds(name: string, fallback: number, min?: number): number
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined
  url(name: string, fallback: string | undefined, allowHttp: boolean): URL | undefined
  mapping(name: string): Record<string, unknown> | undefined
  list(name: string): unknown[] | undefined
  headers(name: string): Record<string, string>
  fault(input: string, message: string): void
  get faults(): readonly InputFault[]
  check(hint?: string): void
}
