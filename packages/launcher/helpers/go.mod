module virtkit/launcher/helpers

go 1.19
