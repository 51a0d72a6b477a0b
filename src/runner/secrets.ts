export declare class Secrets {
  mask(value: string, from?: string): void
  hide(value: string): void
  redact(text: string): string
  contains(text: string): boolean
}
