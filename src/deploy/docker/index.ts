export { checkImageUri, type ImageName, imageUriWarning, parseImageName } from './image-uri.ts'
export {
  DockerError,
  findDocker,
  findImage,
  type PushOptions,
  type PushToken,
  pushImage,
} from './push-image.ts'
export { DockerMissingError } from './run.ts'
