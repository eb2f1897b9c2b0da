package reproduce

// s3 are the statements of S3.
var s3 = []Row{}
