"""TensorFlow Lite files: conversion, their contents, tagging with them."""
