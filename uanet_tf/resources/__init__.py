"""What comes with the package or is fetched: corpora, trained models, pretrained encoders."""
